"""Static files under names that carry their hash, so browsers may keep them for ever."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Also rewrites `import './x.js'` in ES modules."""

    support_js_module_import_aggregation = True
