import type { GroupVersion } from '../../shared/object/object';
import { conversionOf } from '../../shared/conversion/conversions';
import { GROUPS } from '../../shared/api/groups';
import type { ResourceRow } from '../../shared/api/resources';
import { resourceOf, RESOURCES } from '../../shared/api/resources';
import { GROUP } from '../../shared/names';
import { messageType } from '../../shared/schema/types';
import type { ResourceDefinition } from '../registry/resource';
import type { RuntimeConfig } from '../registry/runtime-config';
import { isEnabled } from '../registry/runtime-config';
import type { KindSettings, Strategy } from '../registry/strategy';
import { DEFAULT_KIND_SETTINGS } from '../registry/strategy';
import { admissionregistration } from './admissionregistration/strategies';
import { apiextensions } from './apiextensions/strategies';
import { apiregistration } from './apiregistration/strategies';
import { apiserverinternal } from './apiserverinternal/strategies';
import { autoscaling } from './autoscaling/strategies';
import { certificates } from './certificates/strategies';
import { core } from './core/strategies';
import { discovery } from './discovery/strategies';
import { flowcontrol } from './flowcontrol/strategies';
import { networking } from './networking/strategies';
import { node } from './node/strategies';
import { policy } from './policy/strategies';
import { rbac } from './rbac/strategies';
import { scheduling } from './scheduling/strategies';
import { storage } from './storage/strategies';
import { apps, batch, coordination } from './apps/strategies';
import { SPECIAL_SUBRESOURCES } from './subresource-rows';
import { VIRTUAL_RESOURCES } from './virtual-rows';
import { completionOf } from './core/secret-text';

/** The behaviour of the kinds that are stored, by the group they are stored in. */
const STRATEGIES: Readonly<Record<string, Readonly<Record<string, Strategy>>>> = {
  [GROUP.core]: core,
  [GROUP.admissionregistration]: admissionregistration,
  [GROUP.apiextensions]: apiextensions,
  [GROUP.apiregistration]: apiregistration,
  [GROUP.apiserverinternal]: apiserverinternal,
  [GROUP.apps]: apps,
  [GROUP.autoscaling]: autoscaling,
  [GROUP.batch]: batch,
  [GROUP.certificates]: certificates,
  [GROUP.coordination]: coordination,
  [GROUP.discovery]: discovery,
  [GROUP.flowcontrol]: flowcontrol,
  [GROUP.networking]: networking,
  [GROUP.node]: node,
  [GROUP.policy]: policy,
  [GROUP.rbac]: rbac,
  [GROUP.scheduling]: scheduling,
  [GROUP.storage]: storage,
};

/** Subresources of features that are off in v1.21, and who switches them on. */
const SWITCHED_SUBRESOURCES: Readonly<Record<string, (settings: KindSettings) => boolean>> = {
  ephemeralcontainers: ({ ephemeralContainers }) => ephemeralContainers,
};

/** Subresources that show the object itself. Those that need a connection to a node (log, exec, …) come with that. */
const STORED_SUBRESOURCES: readonly string[] = ['approval', 'finalize', 'status'];

/**
 * The definitions of all served resources, from the tables, in discovery's order: groups by priority, versions by preference. A row
 * that `--runtime-config` switches off, or an alpha version that it does not switch on, answers 404.
 */
export function servedDefinitions(
  runtimeConfig: RuntimeConfig,
  settings: KindSettings = DEFAULT_KIND_SETTINGS,
): readonly ResourceDefinition[] {
  return GROUPS.flatMap(({ group, versions }) =>
    versions.flatMap(({ version }) => rowsOf({ group, version })),
  )
    .filter((row) => isEnabled(runtimeConfig, row))
    .map((row) => definitionOf(row, settings));
}

function rowsOf({ group, version }: GroupVersion): readonly ResourceRow[] {
  return RESOURCES.filter((row) => row.group === group && row.version === version);
}

function definitionOf(row: ResourceRow, settings: KindSettings): ResourceDefinition {
  const hub = resourceOf(row.hub, row.resource);
  if (hub === undefined) throw new Error(`${row.schema} has no hub`);
  const conversion = conversionOf(row);
  const applyDefaults = completionOf(row.schema);
  const special = SPECIAL_SUBRESOURCES[row.group]?.[row.resource];
  const virtual = VIRTUAL_RESOURCES[row.group]?.[row.resource];
  return {
    row,
    type: messageType(row.schema),
    hub: { row: hub, type: messageType(hub.schema) },
    strategy: STRATEGIES[row.hub.group]?.[row.resource] ?? {},
    servedSubresources: [...STORED_SUBRESOURCES, ...Object.keys(special ?? {})].filter(
      (name) => SWITCHED_SUBRESOURCES[name]?.(settings) ?? true,
    ),
    ...(conversion === undefined ? {} : { conversion }),
    ...(applyDefaults === undefined ? {} : { applyDefaults }),
    ...(special === undefined ? {} : { specialSubresources: special }),
    ...(virtual === undefined ? {} : { virtual }),
  };
}
