"""Sets of shadows of followed clusters; `of_sweep` becomes `unlisted`, as shadows are not listed either."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL), ("twin", "0018_acting")]

    operations = [
        migrations.RenameField("scenario", "of_sweep", "unlisted"),
        migrations.CreateModel(
            name='ShadowSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(db_index=True, default='queued', max_length=12)),
                ('message', models.TextField(blank=True)),
                ('length_ms', models.BigIntegerField()),
                ('from_ms', models.BigIntegerField(null=True)),
                ('until_ms', models.BigIntegerField(null=True)),
                ('seq', models.BigIntegerField(default=0)),
                ('facts', models.JSONField(default=dict)),
                ('history', models.BinaryField(default=b'')),
                ('owner', models.CharField(blank=True, max_length=100)),
                ('lease_until', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('cluster', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='twin.clusterspec')),
                ('connection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shadow_sets', to='twin.connection')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='twin.run')),
                ('trace', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='twin.trace')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Shadow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scheduler', models.CharField(max_length=60)),
                ('durations', models.CharField(max_length=16)),
                ('status', models.CharField(default='waiting', max_length=8)),
                ('message', models.TextField(blank=True)),
                ('figures', models.JSONField(default=dict)),
                ('deltas', models.JSONField(default=dict)),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='twin.run')),
                ('set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shadows', to='twin.shadowset')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
    ]
