import type { ApiObject } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';
import { autoscaling } from '../autoscaling/columns';
import type { CellsOf, RowOf } from './cells';
import { cellsAt } from './cells';
import { certificates } from '../certificates/columns';
import {
  admissionregistration,
  apiextensions,
  apiregistration,
  apiserverinternal,
  coordination,
  node,
  scheduling,
} from './control-plane';
import { core } from '../core/columns';
import { createdAtRow } from './created-at';
import { flowcontrol } from '../flowcontrol/columns';
import { discovery, networking } from '../networking/columns';
import { podRowConditions } from '../core/pods-columns';
import { policy } from '../policy/columns';
import { rbac } from '../rbac/columns';
import { storage } from '../storage/columns';
import { apps, batch } from '../apps/columns';

/** Kinds that live in two groups are stored in one of them; both names lead to the same cells. */
const SECOND_HOMES = [
  ...entriesOf(GROUP.events, { events: core['events'] ?? createdAtRow }),
  ...entriesOf(GROUP.extensions, { ingresses: networking['ingresses'] ?? createdAtRow }),
];

/**
 * The rows of every kind's Table by `<group>/<resource>` (`/pods` for the core group), from objects in the hub version. Only cells that are
 * an `Age` depend on the time, so that a row may be kept as long as its object; `cellsAt` makes it cells.
 */
export const ROWS: Readonly<Record<string, RowOf>> = Object.fromEntries([
  ...entriesOf(GROUP.core, core),
  ...entriesOf(GROUP.admissionregistration, admissionregistration),
  ...entriesOf(GROUP.apiextensions, apiextensions),
  ...entriesOf(GROUP.apiregistration, apiregistration),
  ...entriesOf(GROUP.apiserverinternal, apiserverinternal),
  ...entriesOf(GROUP.apps, apps),
  ...entriesOf(GROUP.autoscaling, autoscaling),
  ...entriesOf(GROUP.batch, batch),
  ...entriesOf(GROUP.certificates, certificates),
  ...entriesOf(GROUP.coordination, coordination),
  ...entriesOf(GROUP.discovery, discovery),
  ...entriesOf(GROUP.flowcontrol, flowcontrol),
  ...entriesOf(GROUP.networking, networking),
  ...entriesOf(GROUP.node, node),
  ...entriesOf(GROUP.policy, policy),
  ...entriesOf(GROUP.rbac, rbac),
  ...entriesOf(GROUP.scheduling, scheduling),
  ...entriesOf(GROUP.storage, storage),
  ...SECOND_HOMES,
]);

/** What a row says about its object beside the cells, for the kinds that say anything; by the keys of `ROWS`. */
export const ROW_CONDITIONS: Readonly<Record<string, (object: ApiObject) => readonly object[]>> = {
  [`${GROUP.core}/pods`]: podRowConditions,
};

/** The cells of every kind at one moment, by the keys of `ROWS`. */
export const CELLS: Readonly<Record<string, CellsOf>> = Object.fromEntries(
  Object.entries(ROWS).map(([key, row]): [string, CellsOf] => [
    key,
    (object, now) => cellsAt(row(object), now),
  ]),
);

function entriesOf(
  group: string,
  rows: Readonly<Record<string, RowOf>>,
): readonly (readonly [string, RowOf])[] {
  return Object.entries(rows).map(([resource, row]) => [`${group}/${resource}`, row] as const);
}
