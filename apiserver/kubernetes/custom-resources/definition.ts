import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionVersion,
} from '../../../shared/api/types/apiextensions-v1';
import { ANNOTATION, FINALIZER, GROUP } from '../../../shared/names';
import type { HeldCondition } from '../../engine/registry/conditions';
import { conditionOf, isConditionTrue } from '../../engine/registry/conditions';
import { isTerminating } from '../../engine/registry/metadata';
import type { Entry } from '../../engine/watch-cache/state/entry';

/** The resource of CustomResourceDefinitions in apiextensions/v1. */
export const DEFINITIONS = {
  group: GROUP.apiextensions,
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
} as const;

export interface DefinitionNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface DefinitionVersion {
  readonly name: string;
  readonly isServed: boolean;
  readonly isStored: boolean;
  readonly isDeprecated: boolean;
  readonly deprecationWarning: string | undefined;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  /** The paths of fields that field selectors may use: `spec.color`. */
  readonly selectableFields: readonly string[];
}

/** Each is a field path such as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** Empty if there is none. */
  readonly labelSelector: string;
}

/** The summary of a definition that stays in memory. Its schemas are parsed from the entry on demand. */
export interface Definition {
  readonly name: string;
  readonly uid: string;
  /** The revision of the definition's last write. */
  readonly revision: number;
  readonly group: string;
  readonly isNamespaced: boolean;
  readonly preservesUnknownFields: boolean;
  readonly convertsByWebhook: boolean;
  readonly versions: readonly DefinitionVersion[];
  readonly wantedNames: DefinitionNames;
  readonly acceptedNames: DefinitionNames;
  /** The condition NamesAccepted; undefined until it is set. */
  readonly namesAccepted: Pick<HeldCondition, 'status' | 'reason' | 'message'> | undefined;
  readonly isEstablished: boolean;
  /** True from the first deletion request until removal. The condition ends with the cleanup, but other finalizers may last longer. */
  readonly isTerminating: boolean;
  /** The definition is terminating and has the cleanup finalizer. */
  readonly awaitsCleanup: boolean;
  /** Equal as long as the schemas and the approval are unchanged. */
  readonly conditionsKey: string;
  /** Equal as long as the served resources of the definition are unchanged. */
  readonly fingerprint: string;
}

export function definitionOf(entry: Entry, object: CustomResourceDefinition): Definition {
  const { metadata, spec, status } = object;
  const isTrue = (type: string): boolean => isConditionTrue(object, type);
  return {
    name: entry.name,
    uid: entry.uid,
    revision: entry.revision,
    group: spec.group,
    isNamespaced: spec.scope === 'Namespaced',
    preservesUnknownFields: spec.preserveUnknownFields === true,
    convertsByWebhook: spec.conversion?.strategy === 'Webhook',
    versions: (spec.versions ?? []).map(versionOf),
    wantedNames: namesOf(spec.names),
    acceptedNames: namesOf(status?.acceptedNames),
    namesAccepted: conditionOf(object, 'NamesAccepted'),
    isEstablished: isTrue('Established'),
    isTerminating: isTerminating(metadata) || isTrue('Terminating'),
    awaitsCleanup:
      isTerminating(metadata) && (metadata.finalizers ?? []).includes(FINALIZER.customResourceCleanup),
    conditionsKey: JSON.stringify([
      metadata.uid,
      String(metadata.generation),
      metadata.annotations?.[ANNOTATION.apiApproved],
    ]),
    // The generation changes with every change of the spec. Upstream compares the two parts themselves.
    fingerprint: JSON.stringify([metadata.uid, String(metadata.generation), status?.acceptedNames]),
  };
}

function versionOf(version: CustomResourceDefinitionVersion): DefinitionVersion {
  const { name, served, storage, deprecated = false, deprecationWarning } = version;
  const { subresources = {}, selectableFields = [] } = version;
  const { status, scale } = subresources;
  return {
    name,
    isServed: served,
    isStored: storage,
    isDeprecated: deprecated,
    deprecationWarning,
    hasStatus: status !== undefined,
    selectableFields: selectableFields.map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
    scale:
      scale === undefined
        ? undefined
        : {
            specReplicas: scale.specReplicasPath,
            statusReplicas: scale.statusReplicasPath,
            labelSelector: scale.labelSelectorPath ?? '',
          },
  };
}

export function namesOf(names: CustomResourceDefinitionNames = { plural: '', kind: '' }): DefinitionNames {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names;
  return { plural, singular, kind, listKind, shortNames, categories };
}
