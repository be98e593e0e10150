"""The typed-workers execution model: chunks and gangs on the workers of one type, each worker one at a time."""
