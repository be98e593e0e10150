"""The parts of A_online: Algorithm 2, Algorithm 5, the storage of Section VI, and the plans that they make."""
