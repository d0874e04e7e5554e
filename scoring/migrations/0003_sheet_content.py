import orjson
from django.db import migrations, models


def fill(apps, schema_editor):
    """Work out what is written on the sheets that there are."""
    from scoring.boards import Step, fold

    for sheet in apps.get_model("scoring", "Sheet").objects.iterator():
        changes = list(sheet.changes.order_by("number"))
        written = fold(Step(change.kind, orjson.loads(change.data), change.at) for change in changes)
        sheet.content = orjson.dumps(written.content.to_kept_json()).decode()
        sheet.undo, sheet.redo = written.undo, written.redo
        sheet.written = sum(len(change.data.encode()) for change in changes)
        sheet.save()


class Migration(migrations.Migration):

    dependencies = [
        ('scoring', '0002_sheet_certified'),
    ]

    operations = [
        migrations.AddField(
            model_name='sheet',
            name='content',
            field=models.TextField(default='{}', help_text='JSON: what is written, as it follows, and its certificate.'),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='sheet',
            name='undo',
            field=models.PositiveIntegerField(default=0, help_text='How many changes could be taken back.'),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='sheet',
            name='redo',
            field=models.PositiveIntegerField(default=0, help_text='How many that were taken back could be written again.'),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='sheet',
            name='written',
            field=models.PositiveIntegerField(default=0, help_text='Bytes of the data of all changes.'),
            preserve_default=False,
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
