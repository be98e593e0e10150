"""Acting on a real cluster: plans that approvers approve, and the process that carries them out and undoes them."""
