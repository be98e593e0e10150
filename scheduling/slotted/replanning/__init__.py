"""Parts of the re-planning scheduler: plans, quotes with a discount for near slots, candidates, and reasons."""
