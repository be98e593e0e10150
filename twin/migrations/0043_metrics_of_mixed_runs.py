from django.db import migrations


def drop(apps, schema_editor):
    """Bounds and allocations of runs that change their execution model, or place both chunks and gangs.

    A bound took all chunks for undivided although gangs ran, too: the certificate is computed again. The allocation
    ended at the last bar on a server although groups ran later.
    """
    runs = apps.get_model("twin", "Run").objects
    for run in runs.exclude(edits=[]).only("edits", "metrics", "certificate").order_by("pk").iterator(chunk_size=100):
        if not any(isinstance(edit, dict) and edit.get("verb") == "change_scheduler" for edit in run.edits):
            continue
        if isinstance(run.certificate, dict) and run.certificate.get("gangs") is False:
            runs.filter(pk=run.pk).update(certificate={}, certified_seq=0, certify_after=None)
        metrics = run.metrics if isinstance(run.metrics, dict) else {}
        if metrics.get("groups") and any(value is not None for value in (metrics.get("utilization") or {}).values()):
            nothing = dict.fromkeys(metrics["utilization"])
            runs.filter(pk=run.pk).update(metrics=metrics | {"utilization": nothing})


class Migration(migrations.Migration):
    dependencies = [("twin", "0042_slowdowns_of_edited_runs")]

    operations = [migrations.RunPython(drop, migrations.RunPython.noop)]
