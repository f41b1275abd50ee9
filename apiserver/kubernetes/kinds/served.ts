import type { GroupVersion } from '../../../shared/object/object';
import { getConversion } from '../../../shared/conversion/conversions';
import { GROUPS } from '../../../shared/api/groups';
import type { ResourceRow } from '../../../shared/api/resources';
import { resourceOf, RESOURCES } from '../../../shared/api/resources';
import type { ApplyDefaults } from '../../../shared/defaults/defaults';
import { getDefaults } from '../../../shared/defaults/defaults';
import { defined } from '../../../shared/defined';
import { kindType } from '../../../shared/schema/types';
import type { ResourceDefinition } from '../../engine/registry/resource';
import type { ObjectTable } from '../../engine/registry/object-table';
import { CREATED_AT_TABLE } from '../../engine/registry/object-table';
import type { RuntimeConfig } from '../../engine/registry/runtime-config';
import { isEnabled } from '../../engine/registry/runtime-config';
import type { KindSettings } from '../../engine/registry/strategy';
import { DEFAULT_KIND_SETTINGS } from '../../engine/registry/strategy';
import { isGateOn } from './field-gates';
import type { Kind } from './kind';
import { explainMisfit } from './explain-misfit';
import { kindOf } from './kinds';

/** Subresources that show the object itself, unless the kind has another view of them. */
const STORED_SUBRESOURCES: readonly string[] = [
  'approval',
  'ephemeralcontainers',
  'finalize',
  'resize',
  'status',
];

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
    .filter(
      (row) => isEnabled(runtimeConfig, row) && (row.gate === undefined || isGateOn(settings, row.gate)),
    )
    .map((row) => definitionOf(row, settings));
}

function rowsOf({ group, version }: GroupVersion): readonly ResourceRow[] {
  return RESOURCES.filter((row) => row.group === group && row.version === version);
}

function definitionOf(row: ResourceRow, settings: KindSettings): ResourceDefinition {
  const hub = resourceOf(row.hub, row.resource);
  if (hub === undefined) throw new Error(`${row.schema} has no hub`);
  const conversion = getConversion(row);
  const kind = kindOf(row.hub.group, row.resource);
  const { strategy = {}, subresources = {}, virtual, received, fieldAnnotations } = kind;
  const applyDefaults = inSequence(
    received === undefined ? undefined : (object) => received(object, settings),
    getDefaults(row.schema, (gate) => isGateOn(settings, gate)),
  );
  return {
    row,
    type: kindType(row.schema),
    hub: { row: hub, type: kindType(hub.schema) },
    strategy,
    servedSubresources: [...new Set([...STORED_SUBRESOURCES, ...Object.keys(subresources)])].filter(
      (name) => subresources[name]?.isServed?.(settings) ?? true,
    ),
    specialSubresources: subresources,
    explainMisfit,
    ...defined({
      conversion,
      applyDefaults,
      virtual,
      table: tableOf(kind),
      hiddenAnnotations: fieldAnnotations,
    }),
  };
}

function tableOf({ table, rowConditions }: Kind): ObjectTable | undefined {
  return rowConditions === undefined ? table : { ...(table ?? CREATED_AT_TABLE), rowConditions };
}

/** What is received is put in its place before what is missing is filled in. */
function inSequence(first: ApplyDefaults | undefined, second: ApplyDefaults): ApplyDefaults {
  return first === undefined ? second : (object) => second(first(object));
}
