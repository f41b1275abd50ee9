import type { AnyLevel } from '../api-level';
import { apiLevel, isAtLevel } from '../api-level';
import { ownKeyMap } from '../own-key-map';
import gates from './feature-gates.json';

/** The stage of a feature. */
export type Stage = 'ALPHA' | 'BETA' | 'GA' | 'DEPRECATED';

export interface Gate {
  readonly stage: Stage;
  readonly default: boolean;
  /** GA and locked to its default. */
  readonly isLocked: boolean;
}

/** From this release on a gate has this stage and default, and is locked to it. */
type HistoryRow = readonly [release: string, stage: Stage, value: boolean, isLocked?: boolean];

/** One gate as in `feature-gates.json`, from Kubernetes' page on feature gates and its sources. */
interface GateData {
  readonly history: readonly HistoryRow[];
  /** The last release whose programs know the gate. */
  readonly until?: string;
}

const GATE_DATA = ownKeyMap<GateData>(gates as unknown as Record<string, GateData>);

/** The feature gates of the API level of this process. Every program accepts all of them. */
export const GATES: ReadonlyMap<string, Gate> = gatesAt(apiLevel);

/** Returns whether a gate belongs to any API level. Flags are read before the store says which level it has. */
export function isGateOfAnyLevel(name: string): boolean {
  return GATE_DATA.has(name);
}

/** Returns the feature gates of a level. */
export function gatesAt(level: AnyLevel): ReadonlyMap<string, Gate> {
  return new Map(
    [...GATE_DATA].flatMap(([name, { history, until }]): (readonly [string, Gate])[] => {
      const gate = gateAt(history, level);
      return gate === undefined || !isAtLevel(until === undefined ? {} : { until }, level)
        ? []
        : [[name, gate]];
    }),
  );
}

/** Returns whether a feature is on where nothing is said of its gate. A feature whose gate is gone stays as its last release had it. */
export function isOnByDefault(name: string): boolean {
  return gateAt(GATE_DATA.get(name)?.history ?? [], apiLevel)?.default ?? false;
}

function gateAt(history: readonly HistoryRow[], level: AnyLevel): Gate | undefined {
  const row = history.findLast(([since]) => isAtLevel({ since }, level));
  if (row === undefined) return undefined;
  const [, stage, value, isLocked = false] = row;
  return { stage, default: value, isLocked };
}
