import type { Level } from './event';
import { LEVELS } from './event';

/** Parts of auditing that can lose events; the names are those of kube-apiserver's metric. */
export const PLUGINS = ['log', 'webhook', 'buffered', 'truncate'] as const;
export type Plugin = (typeof PLUGINS)[number];

/** Audit counters, for metrics. */
export class AuditCounts {
  /** Events handed to the backends. */
  events = 0;
  /** Requests refused because their event could not be stored. */
  rejectedRequests = 0;
  /** Requests by audit level. */
  readonly levels = new Map<Level, number>(LEVELS.map((level) => [level, 0]));
  /** Lost events by plugin. */
  readonly errors = new Map<Plugin, number>();

  countLevel(level: Level): void {
    this.levels.set(level, (this.levels.get(level) ?? 0) + 1);
  }

  countError(plugin: Plugin, events: number): void {
    this.errors.set(plugin, (this.errors.get(plugin) ?? 0) + events);
  }
}
