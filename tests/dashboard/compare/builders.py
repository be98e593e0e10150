"""Addresses of comparisons."""


def address(*runs, tail="", **asked):
    return f"/api/compare/{tail}?runs={','.join(str(getattr(run, 'pk', run)) for run in runs)}" + "".join(
        f"&{k}={v}" for k, v in asked.items()
    )
