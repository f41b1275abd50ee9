import type { Log } from '../../../shared/log/log';
import type { AuditCounts, Plugin } from './counts';

/** While events are being lost, this is said at most so often. */
const SAY_EVERY_MS = 10_000;

/** Counts events that are lost, and says so in the log without flooding it: losses come by the thousand. */
export class LostEventCounter {
  readonly #counts: AuditCounts;
  readonly #log: Log;
  readonly #unsaid = new Map<Plugin, { lost: number; error: unknown; readonly timer: NodeJS.Timeout }>();
  readonly #saidAt = new Map<Plugin, number>();

  constructor(counts: AuditCounts, log: Log) {
    this.#counts = counts;
    this.#log = log;
  }

  add(plugin: Plugin, events: number, error: unknown): void {
    this.#counts.countError(plugin, events);
    const unsaid = this.#unsaid.get(plugin);
    if (unsaid !== undefined) {
      unsaid.lost += events;
      unsaid.error = error;
      return;
    }
    const waitMs = (this.#saidAt.get(plugin) ?? -Infinity) + SAY_EVERY_MS - performance.now();
    if (waitMs <= 0) {
      this.#say(plugin, events, error);
      return;
    }
    const timer = setTimeout(() => {
      this.#sayRest(plugin);
    }, waitMs).unref();
    this.#unsaid.set(plugin, { lost: events, error, timer });
  }

  /** Says what would be said later: the end is near. */
  sayAll(): void {
    for (const plugin of this.#unsaid.keys()) this.#sayRest(plugin);
  }

  #sayRest(plugin: Plugin): void {
    const unsaid = this.#unsaid.get(plugin);
    if (unsaid === undefined) return;
    clearTimeout(unsaid.timer);
    this.#unsaid.delete(plugin);
    this.#say(plugin, unsaid.lost, unsaid.error);
  }

  #say(plugin: Plugin, lost: number, error: unknown): void {
    this.#saidAt.set(plugin, performance.now());
    this.#log.error({ plugin, lost, error }, 'audit events lost');
  }
}
