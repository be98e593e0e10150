from django.db import migrations

FORMER, CURRENT = "as_it_turned_out", "actual"


def rename(apps, schema_editor):
    """Shadows and cuts of real clusters name actual durations as the rest of the twin does.

    The packed jobs of a trace keep the former name; it is replaced when they are read.
    """
    apps.get_model("twin", "Shadow").objects.filter(durations="turned_out").update(durations=CURRENT)
    traces = apps.get_model("twin", "Trace").objects.filter(format="cut of a mirrored run")
    for trace in traces.only("report", "preview").iterator():
        for counts in trace.report.get("provenance", {}).values():
            if FORMER in counts:
                counts[CURRENT] = counts.pop(FORMER)
        for job in trace.preview:
            for field, origin in job.get("provenance", {}).items():
                if origin == FORMER:
                    job["provenance"][field] = CURRENT
        trace.save(update_fields=["report", "preview"])


class Migration(migrations.Migration):
    dependencies = [("twin", "0029_teams")]

    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
