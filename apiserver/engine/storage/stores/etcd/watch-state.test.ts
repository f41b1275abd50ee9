import type { Revision } from '../../backend';
import type { WatchEvent, WatchResponse } from './proto';
import { WatchGap, WatchState } from './watch-state';

const CLUSTER = 'c1';

function event(
  revision: number,
  name: string,
  more: { version?: number; deleted?: boolean } = {},
): WatchEvent {
  const version = more.version ?? 1;
  const isDelete = more.deleted ?? false;
  return {
    type: isDelete ? 1 : 0,
    kv: {
      key: Buffer.from(name),
      value: Buffer.from(`value of ${name}`),
      createRevision: isDelete ? 0 : revision - version + 1,
      modRevision: revision,
      version: isDelete ? 0 : version,
    },
    prevKv: null,
  };
}

function response(events: readonly WatchEvent[], more: Partial<WatchResponse> = {}): WatchResponse {
  return {
    header: { clusterId: CLUSTER, memberId: 'm1', revision: events.at(-1)?.kv.modRevision ?? 1 },
    created: false,
    canceled: false,
    compactRevision: 0,
    cancelReason: '',
    fragment: false,
    events,
    ...more,
  };
}

function watchAll(from: number): WatchState {
  return new WatchState({ from, isWhole: true, keyPrefix: '/registry/', withPrevious: false });
}

function accept(state: WatchState, ...responses: readonly WatchResponse[]): readonly Revision[] {
  const done: Revision[] = [];
  for (const each of responses) state.accept(each, done);
  return done;
}

function shape(revisions: readonly Revision[]): readonly (readonly [number, number])[] {
  return revisions.map((each) => [each.revision, each.events.length]);
}

test('a revision that spans fragments is delivered once, whole', () => {
  const state = watchAll(5);
  state.startStream();
  const first = accept(
    state,
    response([event(5, '/registry/a'), event(6, '/registry/b')], { fragment: true }),
  );
  expect(shape(first)).toEqual([[5, 1]]);
  const second = accept(
    state,
    response([event(6, '/registry/c')], { fragment: true }),
    response([event(6, '/registry/d'), event(7, '/registry/e')]),
  );
  expect(shape(second)).toEqual([
    [6, 3],
    [7, 1],
  ]);
});

test('a stream that breaks between fragments begins again at the last whole revision, and half of one is forgotten', () => {
  const state = watchAll(5);
  expect(state.startStream()).toEqual({ revision: 4, needsWholeKeyspace: true });
  accept(state, response([event(5, '/registry/a'), event(6, '/registry/b')], { fragment: true }));
  expect(state.startStream().revision).toBe(5);
  const again = accept(
    state,
    response([event(5, '/registry/a'), event(6, '/registry/b'), event(6, '/registry/c')]),
  );
  expect(shape(again)).toEqual([[6, 2]]);
});

test('a header far ahead of the events moves nothing', () => {
  const state = watchAll(5);
  state.startStream();
  const header = { clusterId: CLUSTER, memberId: 'm1', revision: 9_000 };
  accept(state, response([event(5, '/registry/a')], { header }), response([], { header, created: true }));
  expect(state.startStream().revision).toBe(5);
});

test('a missing revision asks for a new stream the first time and is a reset the second', () => {
  const state = watchAll(5);
  state.startStream();
  expect(() => accept(state, response([event(6, '/registry/b')]))).toThrow(WatchGap);
  state.startStream();
  expect(() => accept(state, response([event(6, '/registry/b')]))).toThrow(
    expect.objectContaining({ code: 'reset' }),
  );
});

test('what came before a missing revision is kept', () => {
  const state = watchAll(5);
  state.startStream();
  const done: Revision[] = [];
  const holed = response([event(5, '/registry/a'), event(7, '/registry/c')]);
  expect(() => {
    state.accept(holed, done);
  }).toThrow(WatchGap);
  expect(shape(done)).toEqual([[5, 1]]);
  expect(state.startStream().revision).toBe(5);
});

test('another cluster, and another history at the last revision, are a reset', () => {
  const state = watchAll(5);
  state.startStream();
  accept(state, response([event(5, '/registry/a')]));
  state.startStream();
  expect(() => accept(state, response([event(5, '/registry/other'), event(6, '/registry/b')]))).toThrow(
    expect.objectContaining({ code: 'reset' }),
  );
  const header = { clusterId: 'c2', memberId: 'm1', revision: 6 };
  expect(() => accept(state, response([event(6, '/registry/b')], { header }))).toThrow(
    expect.objectContaining({ code: 'reset' }),
  );
});

test('a revision that comes in two halves outside of fragments is a reset, not a silent split', () => {
  const state = watchAll(5);
  state.startStream();
  expect(() =>
    accept(state, response([event(5, '/registry/a')]), response([event(5, '/registry/b')])),
  ).toThrow(expect.objectContaining({ code: 'reset' }));
});

test('a start at the compact revision watches the whole keyspace, and a missing revision is compacted', () => {
  const state = new WatchState({ from: 5, isWhole: false, keyPrefix: '/registry/x/', withPrevious: false });
  expect(state.startStream()).toEqual({ revision: 4, needsWholeKeyspace: false });
  expect(() => state.refuse(5)).toThrow(WatchGap);
  expect(state.startStream()).toEqual({ revision: 5, needsWholeKeyspace: true });
  expect(() => accept(state, response([event(6, '/registry/x/a')]))).toThrow(
    expect.objectContaining({ code: 'compacted', compactRevision: 6 }),
  );
});

test('a start below the compact revision is refused with it', () => {
  const state = watchAll(5);
  state.startStream();
  expect(() => state.refuse(6)).toThrow(expect.objectContaining({ code: 'compacted', compactRevision: 6 }));
});

test('an event whose previous record was compacted away is not delivered without it', () => {
  const state = new WatchState({ from: 5, isWhole: true, keyPrefix: '/registry/', withPrevious: true });
  state.startStream();
  accept(state, response([event(5, '/registry/a')]));
  expect(() => accept(state, response([event(6, '/registry/a', { version: 2 })]))).toThrow(
    expect.objectContaining({ code: 'compacted' }),
  );
});
