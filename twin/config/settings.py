"""Settings, from the environment where a machine differs: DATABASE_URL, BROKER_URL, LAYER_URL, SECRET_KEY, ...

With nothing set, everything lives in VAR_DIR of the checkout (SQLite, uploads, the embedded broker's files).
"""

import importlib.util
import sys
from pathlib import Path

import environ

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent.parent
VAR_DIR = Path(env.str("TWIN_VAR_DIR", default="") or BASE_DIR / "var").absolute()


def _unusable(error: OSError) -> str:
    """Exit with one line: Django would show a traceback of anything that is raised here."""
    why = "it is not a folder" if isinstance(error, FileExistsError | NotADirectoryError) else error.strerror
    return f"the data folder {VAR_DIR} cannot be used: {why}; set TWIN_VAR_DIR to another folder"


def _secret_key() -> str:
    """A key of this installation's own, made once and kept with the data."""
    import secrets

    path = VAR_DIR / "secret_key"
    if not path.exists():
        temporary = path.with_suffix(f".{secrets.token_hex(4)}")
        try:
            temporary.write_text(secrets.token_urlsafe(50))
            temporary.chmod(0o600)
            path.hardlink_to(temporary)  # two processes at first start agree on one key
        except FileExistsError:
            pass
        finally:
            temporary.unlink(missing_ok=True)
    return path.read_text().strip()


try:
    VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    SECRET_KEY = env.str("SECRET_KEY", default="") or _secret_key()
except OSError as error:
    sys.exit(_unusable(error))
DEBUG = env.bool("DEBUG", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
HTTPS = env.bool("HTTPS", default=False)  # true behind a TLS proxy

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "csp",
    "twin.apps.TwinConfig",
    "dashboard.apps.DashboardConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "dashboard.http.accept_encoding.without_refused",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",  # all pages except health checks and the login
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "twin.config.urls"
ASGI_APPLICATION = "twin.config.asgi.application"
WEBSOCKET_ROUTES = "dashboard.routing"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.auth.roles.in_templates",
            ]
        },
    }
]

DATABASE_LOCK_WAIT_S = env.float("DATABASE_LOCK_WAIT_S", default=20.0)  # after which a wait for a lock fails
DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'twin.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # IMMEDIATE: a transaction that will write takes the lock first, instead of failing half way.
    # No memory map: each connection's would count into the process's memory, and reads no faster.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": DATABASE_LOCK_WAIT_S,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16000",
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# `manage.py up` sets both to the embedded server's socket when they are not given.
BROKER_URL = env.str("BROKER_URL", default="")
LAYER_URL = env.str("LAYER_URL", default="") or (BROKER_URL if BROKER_URL.startswith(("redis", "unix")) else "")
LAYER_URL = LAYER_URL.replace("redis+socket://", "unix://")  # Celery's and redis-py's name for it

# between two sets of shadows of a live cluster; 0: only on request
SHADOWS_EVERY_S = env.float("SHADOWS_EVERY_S", default=600.0)
SHADOW_LIMIT_S = env.float("SHADOW_LIMIT_S", default=120.0)  # after which one shadow is given up
MIRROR_EVENTS = env.int("MIRROR_EVENTS", default=50_000)  # of one run of a live cluster
HUNG_S = env.float("HUNG_S", default=20.0)  # `manage.py up` replaces a process without a heartbeat for this long
ACTING_LEASE_S = env.int("ACTING_LEASE_S", default=300)  # time that a plan's begin times last unless renewed
# notices of alerts are posted there (docs/alerts.md); the secret signs their bodies
ALERT_WEBHOOK_URL = env.str("ALERT_WEBHOOK_URL", default="")
ALERT_WEBHOOK_SECRET = env.str("ALERT_WEBHOOK_SECRET", default="")
IMPORT_PROCESSES = env.int("IMPORT_PROCESSES", default=1)  # scans and imports of traces that are computed at once
EXPERIMENT_PROCESSES = env.int("EXPERIMENT_PROCESSES", default=1)  # parts of experiments that are computed at once
EXPERIMENT_LIMIT_S = env.float("EXPERIMENT_LIMIT_S", default=900.0)  # after which a part is given up
CERTIFICATE_LIMIT_S = env.float("CERTIFICATE_LIMIT_S", default=60.0)  # after which a certificate is given up

# Retention (docs/operation.md): 0: no limit.
KEEP_RUNS_DAYS = env.float("KEEP_RUNS_DAYS", default=0.0)  # after the end of a simulated run
KEEP_HISTORY_DAYS = env.float("KEEP_HISTORY_DAYS", default=0.0)  # of live clusters, after the end of their run
LARGE_RUN_EVENTS = env.int("LARGE_RUN_EVENTS", default=1_000_000)  # beyond: shown by level of detail (large_runs.py)
KEEP_LOGS_GB = env.float("KEEP_LOGS_GB", default=0.0)  # of all logs; the oldest simulated runs go first
KEEP_UPLOADS_DAYS = env.float("KEEP_UPLOADS_DAYS", default=7.0)  # of files that were not imported
KEEP_FORECASTS_DAYS = env.float("KEEP_FORECASTS_DAYS", default=0.0)  # with their scores

# of `manage.py up`: /healthz says it, so that it knows its own web server
INSTANCE = env.str("TWIN_INSTANCE", default="")
SUPERVISED = env.bool("TWIN_SUPERVISED", default=False)  # set by manage.py up and act, which replace what hangs

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "dashboard.http.static_storage.ModuleManifestStaticFilesStorage"},
}
UPLOAD_DIR = Path(env.str("UPLOAD_DIR", default=str(VAR_DIR / "uploads")))  # shared by all hosts when there are several
UPLOAD_LIMIT_BYTES = env.int("UPLOAD_LIMIT_BYTES", default=512 * 1024 * 1024)
UPLOAD_PATH = "/api/traces/"  # the one address that takes files
INGEST_PATH, MAX_INGEST_BYTES = "/api/ingest/", 1024 * 1024  # of one request with events
# of every other request; a cluster.json of 20,000 servers fits
MAX_BODY_BYTES = DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS, DATA_UPLOAD_MAX_NUMBER_FILES = 1_000, 100  # of one form; more files come in pieces

FILE_UPLOAD_HANDLERS = ["dashboard.http.upload_files.StreamToUploadDir"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # asked from within, without TLS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
CSRF_FAILURE_VIEW = "dashboard.pages.errors.csrf_failure"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "dashboard.auth.bearer.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "dashboard.auth.roles.RoleByMethod",
        "dashboard.http.known_query.KnownQuery",
    ],
    "DEFAULT_RENDERER_CLASSES": ["dashboard.http.renderers.OrjsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["dashboard.http.parsers.OrjsonParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "dashboard.http.paging.Paging",
    "EXCEPTION_HANDLER": "dashboard.api.errors.handler",
    "NUM_PROXIES": env.int("NUM_PROXIES", default=1 if HTTPS else 0),  # whose X-Forwarded-For is believed when counting
    "DEFAULT_THROTTLE_CLASSES": ["dashboard.http.throttles.SessionThrottle", "dashboard.http.throttles.TokenThrottle"],
    "DEFAULT_THROTTLE_RATES": {"user": "1200/min", "upload": "30/min", "login": "20/min", "client-error": "20/min"},
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Edge-cloud twin",
    "VERSION": "0.1.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,  # it repeats the values
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "dashboard.ingest.openapi.add_components",
        "dashboard.openapi.components.complete",
    ],
    "SERVE_PERMISSIONS": ["dashboard.auth.roles.RoleByMethod"],
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in (
        ("UserAttributeSimilarityValidator", {}),
        ("MinimumLengthValidator", {"min_length": 10}),
        ("CommonPasswordValidator", {}),
        ("NumericPasswordValidator", {}),
    )
]
PASSWORD_RESET_TIMEOUT = 86_400  # s in which a link that sets a password works
SESSION_COOKIE_AGE = int(env.float("SESSION_HOURS", default=336.0) * 3_600)  # from the login on

# Login by an OpenID Connect provider (docs/operation.md); off without OIDC_ISSUER
OIDC_ISSUER = env.str("OIDC_ISSUER", default="")
OIDC_CLIENT_ID, OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_ID", default=""), env.str("OIDC_CLIENT_SECRET", default="")
OIDC_SCOPES = env.str("OIDC_SCOPES", default="openid profile email")
OIDC_NAME_CLAIM = env.str("OIDC_NAME_CLAIM", default="preferred_username")
OIDC_GROUPS_CLAIM = env.str("OIDC_GROUPS_CLAIM", default="groups")
OIDC_ROLES = env.dict("OIDC_ROLES", default={})  # {group: role}
OIDC_TEAMS = env.dict("OIDC_TEAMS", default={})  # {group: name of a team}
OIDC_TITLE = env.str("OIDC_TITLE", default="Log in with your organization")  # of the button
OIDC_SESSION_S = int(env.float("OIDC_SESSION_HOURS", default=12.0) * 3_600)  # then groups are read again
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
if OIDC_ISSUER:
    AUTHENTICATION_BACKENDS.append("dashboard.auth.oidc.backend.ProviderBackend")
    # logging out leads to the provider, whose page may send a form back
    CONTENT_SECURITY_POLICY["DIRECTIVES"]["form-action"].append("/".join(OIDC_ISSUER.split("/")[:3]))

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
APPEND_SLASH = True

CELERY_BROKER_URL = BROKER_URL or "memory://"  # without one, tasks stay in this process (tests, headless commands)
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "runs"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1  # a long slice must not hold back the tasks behind it
CELERY_WORKER_MAX_TASKS_PER_CHILD = 5_000
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 1_000_000  # kB: what a large run or import took is given back after it
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Enqueuing does not wait for an unavailable broker: the ticker repeats it.
CELERY_BROKER_TRANSPORT_OPTIONS = {"max_retries": 1, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.1}
if BROKER_URL.startswith(("redis", "unix")):
    CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"] = 120
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker as long as it takes

# Traces for OpenTelemetry (docs/operation.md); the packages read the other variables OTEL_... themselves
TRACES_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="")
if TRACES_ENDPOINT:
    if not TRACES_ENDPOINT.startswith(("http://", "https://")):
        sys.exit(
            f"OTEL_EXPORTER_OTLP_ENDPOINT must be an address with http:// or https://, got {TRACES_ENDPOINT!r}; OTLP "
            "over HTTP usually has port 4318"
        )
    if importlib.util.find_spec("opentelemetry") is None:
        sys.exit(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages of OpenTelemetry are missing: bin/prepare "
            "requirements-tracing.txt installs them"
        )

LOG_FORMAT = env.str("LOG_FORMAT", default="line")  # line, or json for a collector of logs
if LOG_FORMAT not in ("line", "json"):
    sys.exit(f"LOG_FORMAT must be line or json, got {LOG_FORMAT!r}")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": {"()": "twin.config.json_logs.JsonLines"},
    },
    "filters": {"refused": {"()": "twin.config.logging_filters.Refused"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["refused"]},
        "errors": {"class": "twin.infra.counters.CountErrors", "filters": ["refused"]},
    },
    "loggers": {"uvicorn": {"handlers": ["console", "errors"], "level": "WARNING", "propagate": False}},
    "root": {"handlers": ["console", "errors"], "level": env.str("LOG_LEVEL", default="WARNING")},
}
