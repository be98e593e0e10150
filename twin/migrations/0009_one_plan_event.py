"""Logs of the version before: `planned` and `lanes_planned` become `plan_changed`, and batches become compact columns."""

from django.db import migrations

from scheduling.model.values import Event
from twin.eventlog.batch_codec import encode
from twin.infra.columns import unpack

WORKER = 0  # role


def convert_logs(apps, schema_editor):
    """Every batch, run by run: when a job starts follows from its plans before. Checkpoints are deleted; they are computed again from the log."""
    batches = apps.get_model('twin', 'EventBatch').objects
    apps.get_model('twin', 'Checkpoint').objects.all().delete()
    for run_id in batches.order_by().values_list('run_id', flat=True).distinct():
        starts = {}
        for key in list(batches.filter(run_id=run_id).order_by('first_seq').values_list('pk', flat=True)):
            batch = batches.get(pk=key)
            batch.payload = encode(converted(batch.payload, starts))
            batch.save(update_fields=['payload'])


def converted(payload, starts):
    """The events of an old batch. starts: {job: when it starts by the plans so far}, kept up to date."""
    lines, columns = unpack(payload)
    return [Event(seq, at_ms, *renamed(at_ms, kind, data, columns, starts)) for seq, at_ms, kind, data in lines]


def renamed(at_ms, kind, data, columns, starts):
    if kind not in ('planned', 'lanes_planned'):
        return kind, data
    bars = rows(columns['bars'], data['bars'])
    if kind == 'lanes_planned':
        jobs = rows(columns['jobs'], data['jobs'])
        starts.update({job: start_ms for job, start_ms, _ in jobs})
        keys, scope = rows(columns['lanes'], data['lanes']), 'worker'
    else:
        job, finish_ms = data['job'], data['finish_ms']
        begun_ms = starts.get(job, -1)
        moments = [bar[3] for bar in bars if bar[1] == WORKER] + ([begun_ms] if 0 <= begun_ms < at_ms else [])
        starts[job] = min(moments, default=-1)
        keys, scope, jobs = [job], 'job', [[job, starts[job], -1 if finish_ms is None else finish_ms]]
    return 'plan_changed', {'scope': scope, 'keys': keys, 'jobs': jobs, 'bars': bars}


def rows(matrix, where):
    first, count = where
    return matrix[first : first + count].tolist()


class Migration(migrations.Migration):

    dependencies = [
        ('twin', '0008_held_runs'),
    ]

    operations = [
        migrations.RunPython(convert_logs),
    ]
