import type { Log } from '../../../shared/log/log';
import type { AuditCounts, Plugin } from './counts';

/** The minimal interval between log lines about lost events. */
const REPORT_EVERY_MS = 10_000;

/** Counts lost events and logs them with a rate limit. */
export class LostEventCounter {
  readonly #counts: AuditCounts;
  readonly #log: Log;
  readonly #unreported = new Map<Plugin, { lost: number; error: unknown; readonly timer: NodeJS.Timeout }>();
  readonly #reportedAt = new Map<Plugin, number>();

  constructor(counts: AuditCounts, log: Log) {
    this.#counts = counts;
    this.#log = log;
  }

  add(plugin: Plugin, events: number, error: unknown): void {
    this.#counts.countError(plugin, events);
    const unreported = this.#unreported.get(plugin);
    if (unreported !== undefined) {
      unreported.lost += events;
      unreported.error = error;
      return;
    }
    const waitMs = (this.#reportedAt.get(plugin) ?? -Infinity) + REPORT_EVERY_MS - performance.now();
    if (waitMs <= 0) {
      this.#report(plugin, events, error);
      return;
    }
    const timer = setTimeout(() => {
      this.#reportRest(plugin);
    }, waitMs).unref();
    this.#unreported.set(plugin, { lost: events, error, timer });
  }

  /** Logs pending reports at once, for shutdown. */
  flush(): void {
    for (const plugin of this.#unreported.keys()) this.#reportRest(plugin);
  }

  #reportRest(plugin: Plugin): void {
    const unreported = this.#unreported.get(plugin);
    if (unreported === undefined) return;
    clearTimeout(unreported.timer);
    this.#unreported.delete(plugin);
    this.#report(plugin, unreported.lost, unreported.error);
  }

  #report(plugin: Plugin, lost: number, error: unknown): void {
    this.#reportedAt.set(plugin, performance.now());
    this.#log.error({ plugin, lost, error }, 'audit events lost');
  }
}
