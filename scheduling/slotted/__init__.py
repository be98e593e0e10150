"""The slotted execution model: workers and parameter servers of a job in time slots, packed on servers by resource."""
