// Settings of what ages out: unused segments, old records, finished tasks and their logs.

import { ServiceError } from '../base/errors.js';
import type { Configuration } from '../configuration/configuration.js';
import type { KillSettings } from './coordinator/kill-duty.js';
import type { OldRecordsSettings } from './coordinator/old-records-duty.js';
import type { OldTasksSettings } from './role-options.js';

/** Settings of automatic kill tasks; null: there are none. */
export function killSettings(configuration: Configuration): KillSettings | null {
  if (!configuration.get('svc.coordinator.kill.on')) return null;
  return {
    periodMs: configuration.get('svc.coordinator.kill.period'),
    durationToRetain: configuration.get('svc.coordinator.kill.durationToRetain'),
    ignoreDurationToRetain: configuration.get('svc.coordinator.kill.ignoreDurationToRetain'),
    bufferPeriod: configuration.get('svc.coordinator.kill.bufferPeriod'),
    maxSegments: configuration.get('svc.coordinator.kill.maxSegments'),
    maxInterval: configuration.get('svc.coordinator.kill.maxInterval'),
  };
}

/** @throws ServiceError `input_invalid` for a period below the time between two looks */
export function oldRecordsSettings(configuration: Configuration): OldRecordsSettings {
  const lookMs = configuration.get('svc.coordinator.period.metadataStoreManagementPeriod');
  const periodOf = (name: `svc.coordinator.kill.${'audit' | 'rule' | 'compaction'}.period`): number => {
    const periodMs = configuration.get(name);
    if (periodMs < lookMs)
      throw new ServiceError(
        'input_invalid',
        `${name}: found ${periodMs} ms, expected no less than svc.coordinator.period.metadataStoreManagementPeriod, ${lookMs} ms`,
      );
    return periodMs;
  };
  return {
    lookMs,
    audit: configuration.get('svc.coordinator.kill.audit.on')
      ? {
          periodMs: periodOf('svc.coordinator.kill.audit.period'),
          retainMs: configuration.get('svc.coordinator.kill.audit.durationToRetain'),
        }
      : null,
    rules: configuration.get('svc.coordinator.kill.rule.on')
      ? {
          periodMs: periodOf('svc.coordinator.kill.rule.period'),
          retainMs: configuration.get('svc.coordinator.kill.rule.durationToRetain'),
        }
      : null,
    compaction: configuration.get('svc.coordinator.kill.compaction.on')
      ? { periodMs: periodOf('svc.coordinator.kill.compaction.period') }
      : null,
  };
}

/** Longest time to the first removal of tasks, where none is given. */
const INITIAL_DELAY_MS_MAX = 300_000;

/**
 * Settings of finished tasks and their logs; null: they are kept.
 * @throws ServiceError `input_invalid` where it is not said how long they are kept
 */
export function oldTasksSettings(configuration: Configuration): OldTasksSettings | null {
  if (!configuration.get('svc.indexer.logs.kill.enabled')) return null;
  const retainMs = configuration.get('svc.indexer.logs.kill.durationToRetain');
  if (retainMs === null)
    throw new ServiceError(
      'input_invalid',
      'svc.indexer.logs.kill.durationToRetain: it must be given where svc.indexer.logs.kill.enabled is true',
    );
  return {
    retainMs,
    initialDelayMs: configuration.get('svc.indexer.logs.kill.initialDelay') ?? Math.floor(Math.random() * INITIAL_DELAY_MS_MAX),
    delayMs: configuration.get('svc.indexer.logs.kill.delay'),
  };
}
