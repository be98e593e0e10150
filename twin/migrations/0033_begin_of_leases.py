# When the worker of a run took it, from which the length of its present decision counts.

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("twin", "0032_task_leases")]

    operations = [migrations.AddField(model_name="run", name="leased_at", field=models.DateTimeField(null=True))]
