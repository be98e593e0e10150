"""Acting on a real cluster: plans that an operator approves, and the process that carries them out and undoes them."""
