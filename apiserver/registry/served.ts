import type { GroupVersion } from '../../shared/meta/object';
import { conversionOf } from '../../shared/api/conversion/conversions';
import { GROUPS } from '../../shared/api/groups';
import type { ResourceRow } from '../../shared/api/resources';
import { resourceOf, RESOURCES } from '../../shared/api/resources';
import { GROUP } from '../../shared/names';
import { messageType } from '../../shared/schema/types';
import type { ResourceDefinition } from './resource';
import type { RuntimeConfig } from './runtime-config';
import { isEnabled } from './runtime-config';
import type { KindSettings, Strategy } from './strategy';
import { DEFAULT_KIND_SETTINGS } from './strategy';
import { admissionregistration } from './strategies/admissionregistration';
import { apiextensions } from './strategies/apiextensions';
import { apiregistration } from './strategies/apiregistration';
import { apiserverinternal } from './strategies/apiserverinternal';
import { autoscaling } from './strategies/autoscaling';
import { certificates } from './strategies/certificates';
import { core } from './strategies/core';
import { discovery } from './strategies/discovery';
import { flowcontrol } from './strategies/flowcontrol';
import { networking } from './strategies/networking';
import { node } from './strategies/node';
import { policy } from './strategies/policy';
import { rbac } from './strategies/rbac';
import { scheduling } from './strategies/scheduling';
import { storage } from './strategies/storage';
import { apps, batch, coordination } from './strategies/workloads';
import { SPECIAL_SUBRESOURCES } from './subresources/subresource-rows';
import { VIRTUAL_RESOURCES } from './virtual/rows';
import { completionOf } from './written-text';

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
