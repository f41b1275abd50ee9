import type { Random } from '../../list-watch/chaos/seeded-random';
import type { View } from '../../list-watch/chaos/views';
import { labelSelectorOf, pathOf, VIEWS } from '../../list-watch/chaos/views';
import type { Answer, ApiClient, Body } from '../../support/client';
import type { AskedKind, RunRecord, ShownObject } from '../record/operation';
import { pick } from './draw';

/** The parameters of one list. */
export interface DrawnList {
  readonly view: View;
  /** The replicas of the pages, used in rotation. */
  readonly replicas: readonly number[];
  /** Undefined: one page. */
  readonly limit: number | undefined;
  readonly kind: AskedKind;
  /** The distance of the requested version from the newest known one. */
  readonly back: number;
}

const REQUEST_TIMEOUT_MS = 5_000;
const PAGES_MAX = 200;

export function drawList(random: Random, replicas: number): DrawnList {
  const isPaged = random.below(2) === 0;
  return {
    view: pick(VIEWS, random),
    replicas: Array.from({ length: 5 }, () => random.below(replicas)),
    limit: isPaged ? 1 + random.below(7) : undefined,
    kind: random.weighted([
      [6, 'most recent'],
      [2, 'any'],
      [2, 'not older than'],
      [2, 'exact'],
    ]),
    back: random.below(20),
  };
}

/** Reads a list page by page, and records it if every page was received. `newest` is the newest known version. */
export async function runList(
  drawn: DrawnList,
  { replicas, record, newest }: ListContext,
): Promise<'done' | 'unknown'> {
  const { view, limit } = drawn;
  const selector = labelSelectorOf(view);
  const version = Math.max(1, newest - drawn.back);
  const first = {
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(limit === undefined ? {} : { limit: String(limit) }),
  };
  const invokedMs = performance.now();
  let query: Readonly<Record<string, string>> = { ...first, ...askedQuery(drawn.kind, version) };
  const versions: number[] = [];
  const objects: ShownObject[] = [];
  const asked: number[] = [];
  for (let page = 0; page < PAGES_MAX; page++) {
    const replica = drawn.replicas[page % drawn.replicas.length] ?? 0;
    const path = `${pathOf(view, view.namespace)}?${new URLSearchParams(query).toString()}`;
    const answer = await replicas[replica]
      ?.request({ path, timeoutMs: REQUEST_TIMEOUT_MS })
      .catch((): Answer | undefined => undefined);
    if (answer?.status !== 200) return 'unknown';
    asked.push(replica);
    versions.push(Number(answer.body.metadata?.resourceVersion));
    objects.push(...(answer.body.items ?? []).map(shown));
    const next = answer.body.metadata?.continue;
    if (next === undefined || next === '') {
      const returnedMs = performance.now();
      record.lists.push({
        view: view.id,
        replicas: asked,
        invokedMs,
        returnedMs,
        asked:
          drawn.kind === 'not older than' || drawn.kind === 'exact'
            ? { kind: drawn.kind, version }
            : { kind: drawn.kind },
        versions,
        objects,
      });
      return 'done';
    }
    query = { ...first, continue: next };
  }
  throw new Error(`A list of ${view.id} has no end.`);
}

export interface ListContext {
  readonly replicas: readonly ApiClient[];
  readonly record: RunRecord;
  readonly newest: number;
}

/** The part of a listed or watched object that is compared. */
export function shown({ metadata }: Body): ShownObject {
  const { namespace = '', name = '', resourceVersion, annotations = {} } = metadata ?? {};
  const { turn = '' } = annotations;
  return {
    key: namespace === '' ? name : `${namespace}/${name}`,
    version: Number(resourceVersion),
    turn,
  };
}

function askedQuery(kind: AskedKind, version: number): Readonly<Record<string, string>> {
  if (kind === 'most recent') return {};
  if (kind === 'any') return { resourceVersion: '0' };
  const match = kind === 'exact' ? 'Exact' : 'NotOlderThan';
  return { resourceVersion: String(version), resourceVersionMatch: match };
}
