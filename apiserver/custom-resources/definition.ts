import { ANNOTATION, FINALIZER, GROUP } from '../../shared/names';
import type { ApiObject } from '../../shared/object/object';
import type { Json } from '../../shared/object/accessors';
import { optionalRecord, record, records, strings, text } from '../../shared/object/accessors';
import { conditionOf, isConditionTrue } from '../registry/conditions';
import { isTerminating } from '../registry/metadata';
import type { Entry } from '../cache/state/entry';

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
  readonly generation: number;
  readonly group: string;
  readonly isNamespaced: boolean;
  readonly preservesUnknownFields: boolean;
  readonly convertsByWebhook: boolean;
  readonly versions: readonly DefinitionVersion[];
  readonly wantedNames: DefinitionNames;
  readonly acceptedNames: DefinitionNames;
  /** What is said of its names; undefined as long as nothing is. */
  readonly namesAccepted: Json | undefined;
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

export function definitionOf(entry: Entry, object: ApiObject): Definition {
  const { metadata } = object;
  const spec = record(object['spec']);
  const status = record(object['status']);
  const isTrue = (type: string): boolean => isConditionTrue(object, type);
  return {
    name: entry.name,
    uid: entry.uid,
    revision: entry.revision,
    generation: metadata.generation ?? 0,
    group: text(spec['group']),
    isNamespaced: spec['scope'] === 'Namespaced',
    preservesUnknownFields: spec['preserveUnknownFields'] === true,
    convertsByWebhook: record(spec['conversion'])['strategy'] === 'Webhook',
    versions: records(spec['versions']).map(versionOf),
    wantedNames: namesOf(record(spec['names'])),
    acceptedNames: namesOf(record(status['acceptedNames'])),
    namesAccepted: conditionOf(object, 'NamesAccepted'),
    isEstablished: isTrue('Established'),
    isTerminating: isTerminating(metadata) || isTrue('Terminating'),
    awaitsCleanup:
      isTerminating(metadata) && (metadata.finalizers ?? []).includes(FINALIZER.customResourceCleanup),
    judged: JSON.stringify([
      metadata.uid,
      metadata.generation,
      metadata.annotations?.[ANNOTATION.apiApproved],
    ]),
    // The generation grows with every change of the spec. Upstream compares the two parts themselves.
    fingerprint: JSON.stringify([metadata.uid, metadata.generation, status['acceptedNames']]),
  };
}

function versionOf(version: Json): DefinitionVersion {
  const subresources = record(version['subresources']);
  const scale = optionalRecord(subresources['scale']);
  return {
    name: text(version['name']),
    isServed: version['served'] === true,
    isStored: version['storage'] === true,
    isDeprecated: version['deprecated'] === true,
    deprecationWarning:
      typeof version['deprecationWarning'] === 'string' ? version['deprecationWarning'] : undefined,
    hasStatus: optionalRecord(subresources['status']) !== undefined,
    scale:
      scale === undefined
        ? undefined
        : {
            specReplicas: text(scale['specReplicasPath']),
            statusReplicas: text(scale['statusReplicasPath']),
            labelSelector: text(scale['labelSelectorPath']),
          },
  };
}

export function namesOf(names: Json): DefinitionNames {
  return {
    plural: text(names['plural']),
    singular: text(names['singular']),
    kind: text(names['kind']),
    listKind: text(names['listKind']),
    shortNames: strings(names['shortNames']),
    categories: strings(names['categories']),
  };
}
