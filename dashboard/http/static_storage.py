"""Static files under names that carry their hash, so browsers may keep them for ever."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Storage that also rewrites `import './x.js'` in ES modules."""

    support_js_module_import_aggregation = True
    max_post_process_passes = 20  # one for each module on the longest chain of imports; Django's own 5 are fewer
