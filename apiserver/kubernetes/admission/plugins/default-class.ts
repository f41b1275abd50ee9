import { internalError } from '../../../../shared/errors/status-error';
import type { ApiObject } from '../../../../shared/object/object';
import { ANNOTATION } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { ClusterReader, ResourceName } from '../../cluster/cluster-reader';
import type { AdmissionPlugin } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { CLAIMS, INGRESSES, INGRESS_CLASSES, STORAGE_CLASSES } from '../../cluster/resources';
import { withSpec } from './with-spec';

interface Defaulted<T extends ApiObject> {
  readonly resource: ResourceName<T>;
  readonly classOf: (object: T) => string | undefined;
  readonly withClass: (object: T, name: string) => T;
  /** The deprecated annotation with the class. */
  readonly annotation: string;
  readonly classes: ResourceName;
  /** Text after the number in the error about several default classes. */
  readonly surplus: string;
  /** Annotations that mark a default class with the value `true`. */
  readonly marks: readonly string[];
}

/** Claims without a storage class get the default one. */
export const defaultStorageClass = defaultClass({
  resource: CLAIMS,
  classOf: ({ spec }) => spec.storageClassName,
  withClass: (claim, storageClassName) => withSpec(claim, { storageClassName }),
  annotation: ANNOTATION.betaStorageClass,
  classes: STORAGE_CLASSES,
  surplus: 'default StorageClasses were found',
  marks: [ANNOTATION.isDefaultStorageClass, ANNOTATION.betaIsDefaultStorageClass],
});

/** Ingresses without a class get the default one. */
export const defaultIngressClass = defaultClass({
  resource: INGRESSES,
  classOf: ({ spec }) => spec.ingressClassName,
  withClass: (ingress, ingressClassName) => withSpec(ingress, { ingressClassName }),
  annotation: ANNOTATION.ingressClass,
  classes: INGRESS_CLASSES,
  surplus: 'default IngressClasses were found, only 1 allowed',
  marks: [ANNOTATION.isDefaultIngressClass],
});

function defaultClass<T extends ApiObject>(kind: Defaulted<T>): AdmissionPlugin {
  return pluginOf(writesOf(kind.resource, ['CREATE']), {
    mutate(attributes, cluster) {
      const { object } = attributes;
      if (object === undefined || namesClass(object, kind)) return object;
      const name = nameOfDefault(attributes, cluster, kind);
      return name === undefined ? object : kind.withClass(object, name);
    },
  });
}

function namesClass<T extends ApiObject>(object: T, { classOf, annotation }: Defaulted<T>): boolean {
  const { annotations = {} } = object.metadata;
  return classOf(object) !== undefined || Object.hasOwn(annotations, annotation);
}

function nameOfDefault(
  attributes: AdmissionAttributes,
  cluster: ClusterReader,
  { classes, surplus, marks }: Pick<Defaulted<ApiObject>, 'classes' | 'surplus' | 'marks'>,
): string | undefined {
  const defaults = cluster
    .list(classes)
    .filter(({ metadata: { annotations = {} } }) => marks.some((mark) => annotations[mark] === 'true'));
  if (defaults.length > 1) {
    const problem = new Error(`${String(defaults.length)} ${surplus}`);
    throw refusal(attributes, internalError(problem).message);
  }
  return defaults[0]?.metadata.name;
}
