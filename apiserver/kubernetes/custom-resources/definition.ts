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

/** Where definitions are stored, as CustomResourceDefinitions of apiextensions/v1. */
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
}

/** Each is a path of names, as `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** Empty where there is none. */
  readonly labelSelector: string;
}

/** What has to be known of a definition at all times. Its schemas are not among it: they are read from the entry when they are needed. */
export interface Definition {
  readonly name: string;
  readonly uid: string;
  /** That of the definition's last write. */
  readonly revision: number;
  readonly group: string;
  readonly isNamespaced: boolean;
  readonly preservesUnknownFields: boolean;
  readonly convertsByWebhook: boolean;
  readonly versions: readonly DefinitionVersion[];
  readonly wantedNames: DefinitionNames;
  readonly acceptedNames: DefinitionNames;
  /** What is said of its names; undefined as long as nothing is. */
  readonly namesAccepted: Pick<HeldCondition, 'status' | 'reason' | 'message'> | undefined;
  readonly isEstablished: boolean;
  /** From the first request to delete the definition on, until it is gone: its condition ends with the cleanup, which others may outlast. */
  readonly isTerminating: boolean;
  /** Being deleted, and held until nothing of the resource is left. */
  readonly awaitsCleanup: boolean;
  /** Equal as long as what there is to judge of the definition is equal: its schemas, and its approval. */
  readonly judged: string;
  /** Equal as long as what is served of the definition is equal. */
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
    judged: JSON.stringify([
      metadata.uid,
      String(metadata.generation),
      metadata.annotations?.[ANNOTATION.apiApproved],
    ]),
    // The generation grows with every change of the spec. Upstream compares the two parts themselves.
    fingerprint: JSON.stringify([metadata.uid, String(metadata.generation), status?.acceptedNames]),
  };
}

function versionOf(version: CustomResourceDefinitionVersion): DefinitionVersion {
  const { name, served, storage, deprecated = false, deprecationWarning, subresources = {} } = version;
  const { status, scale } = subresources;
  return {
    name,
    isServed: served,
    isStored: storage,
    isDeprecated: deprecated,
    deprecationWarning,
    hasStatus: status !== undefined,
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
