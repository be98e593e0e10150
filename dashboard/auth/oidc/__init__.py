"""Login by an OpenID Connect provider, switched on by settings: authorization code with PKCE (docs/operation.md)."""
