"""The parts of A_online (002): Algorithm 2, Algorithm 5, the storage of Section VI, and the plans that they make."""
