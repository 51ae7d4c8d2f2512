// Rows of the table of properties that are about how long records are kept.

import { flag, milliseconds, optional } from './property.js';

const DAY_MS = 86_400_000;
const LONGEST_MS = 36_500 * DAY_MS;

const periodOf = (what: string) => milliseconds({ min: 100, max: LONGEST_MS }, 'P1D', `Time between two removals of ${what}.`);

/** Properties of records that age out of the metadata store, and of the logs of tasks. */
export const RETENTION_PROPERTIES = {
  'svc.coordinator.period.metadataStoreManagementPeriod': milliseconds(
    { min: 100, max: DAY_MS },
    'PT1H',
    'Time between two looks for records that are too old; the periods below are no shorter.',
  ),
  'svc.coordinator.kill.audit.on': flag('true', 'Whether entries of the audit history are removed when they are too old.'),
  'svc.coordinator.kill.audit.period': periodOf('entries of the audit history'),
  'svc.coordinator.kill.audit.durationToRetain': milliseconds({ min: 0, max: LONGEST_MS }, 'P90D', 'Age up to which they are kept.'),
  'svc.coordinator.kill.rule.on': flag('true', 'Whether rules of datasources without any segment, used or not, are removed.'),
  'svc.coordinator.kill.rule.period': periodOf('such rules'),
  'svc.coordinator.kill.rule.durationToRetain': milliseconds(
    { min: 0, max: LONGEST_MS },
    'P90D',
    'Time since their last change for which they are kept.',
  ),
  'svc.coordinator.kill.compaction.on': flag(
    'true',
    'Whether compaction configurations of datasources without any segment, used or not, are removed.',
  ),
  'svc.coordinator.kill.compaction.period': periodOf('such configurations'),
  'svc.indexer.logs.kill.enabled': flag('false', 'Whether finished tasks and logs of tasks are removed when they are too old.'),
  'svc.indexer.logs.kill.durationToRetain': optional(
    milliseconds({ min: 0, max: LONGEST_MS }, '0', 'Age of a task up to which it is kept; needed where they are removed.'),
  ),
  'svc.indexer.logs.kill.initialDelay': optional(
    milliseconds({ min: 0, max: LONGEST_MS }, '0', 'Time from the start to the first removal; nothing: some time below five minutes.'),
  ),
  'svc.indexer.logs.kill.delay': milliseconds({ min: 100, max: LONGEST_MS }, 'PT6H', 'Time between two removals of tasks and their logs.'),
} as const;
