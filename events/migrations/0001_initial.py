"""The log of events, and on PostgreSQL a trigger that keeps what was written."""

import events.models
from django.db import migrations, models


IMMUTABLE = """
CREATE FUNCTION events_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are never changed or deleted' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER events_immutable BEFORE UPDATE OR DELETE ON events_event
    FOR EACH STATEMENT EXECUTE FUNCTION events_refuse_change();
"""


def refuse_change(apps, schema_editor):
    """Django empties a SQLite table between tests by deleting rows, so there the tests alone keep watch."""
    if schema_editor.connection.vendor == 'postgresql':
        schema_editor.execute(IMMUTABLE)


def allow_change(apps, schema_editor):
    if schema_editor.connection.vendor == 'postgresql':
        schema_editor.execute('DROP TRIGGER events_immutable ON events_event; DROP FUNCTION events_refuse_change();')


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('game_id', models.UUIDField()),
                ('number', models.PositiveIntegerField()),
                ('version', models.PositiveIntegerField()),
                ('at', models.DateTimeField()),
                ('type', models.CharField(max_length=40)),
                ('deal_number', models.PositiveIntegerField(null=True)),
                ('seat', models.CharField(max_length=1, null=True)),
                ('public', models.TextField()),
                ('own', models.TextField()),
                ('format', models.PositiveSmallIntegerField()),
                ('xid', models.BigIntegerField(db_default=events.models.WritingTransaction(), editable=False, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('xid__isnull', False)), fields=['xid', 'id'], name='event_tail')],
                'constraints': [models.UniqueConstraint(fields=('game_id', 'number'), name='event_number_once_a_game')],
            },
        ),
        migrations.RunPython(refuse_change, allow_change),
    ]
