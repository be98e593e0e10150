"""The parts of A_online: dispatch (Algorithm 2), parameter servers (Algorithm 5), storage (Section VI), and plans."""
