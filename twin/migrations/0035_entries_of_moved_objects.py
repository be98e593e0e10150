# The team of an entry of the audit list when it was made, where its subject was moved since.

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("twin", "0034_cancelled_tasks")]

    operations = [
        migrations.AddField(
            model_name="auditentry", name="kept_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="twin.team"
            ),
        )
    ]  # fmt: skip
