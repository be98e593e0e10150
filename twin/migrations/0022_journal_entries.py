"""Plain names: the entries of a plan's journal, and the predicted time of a scored forecast."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("twin", "0021_beliefs")]

    operations = [
        migrations.RenameModel(old_name="Deed", new_name="JournalEntry"),
        migrations.AlterField(
            model_name="journalentry",
            name="proposal",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="entries", to="twin.proposal"
            ),
        ),
        migrations.RenameField(model_name="score", old_name="said_ms", new_name="predicted_ms"),
    ]
