# Tasks that were cancelled, which no worker takes for a while.

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("twin", "0033_begin_of_leases")]

    operations = [
        migrations.AddField(
            model_name="tasklease", name="cancelled", field=models.BooleanField(default=False)
        )
    ]
