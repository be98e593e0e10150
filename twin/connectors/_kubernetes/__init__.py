"""Parts of the Kubernetes connector: access, requests, watches, and the way from API objects to jobs and nodes."""
