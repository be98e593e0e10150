"""Read models of studies: templates of runs, and experiments of the papers."""
