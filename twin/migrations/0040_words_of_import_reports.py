from django.db import migrations

OF_REPORTS = {"clamped": "outside_range", "outside_window": "not_selected", "machines": "servers"}
OF_SCANS = {"machines": "servers", "gpus_in_machines": "gpus_of_servers"}


def renamed(found, words):
    return {words.get(key, key): value for key, value in found.items()}


def rename(apps, schema_editor):
    """Reports and scans of imports name servers, jobs that were not selected, and values outside a paper's range."""
    traces = apps.get_model("twin", "Trace").objects
    for trace in traces.only("report", "scan").order_by("pk").iterator(chunk_size=20):
        report, scan = renamed(trace.report, OF_REPORTS), renamed(trace.scan, OF_SCANS)
        if "report" in scan:
            scan["report"] = renamed(scan["report"], OF_REPORTS)
        if (report, scan) != (trace.report, trace.scan):
            traces.filter(pk=trace.pk).update(report=report, scan=scan)


class Migration(migrations.Migration):
    dependencies = [("twin", "0039_forecast_ends")]

    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
