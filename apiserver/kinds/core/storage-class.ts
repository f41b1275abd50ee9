import type { ApiObject } from '../../../shared/object/object';
import { ANNOTATION } from '../../../shared/names';
import { scalarOr, textAt } from '../columns/read';

/** The class of a volume or claim; the annotation of the time before the field wins. */
export function storageClassOf(volume: ApiObject): string {
  const field = textAt(volume, 'spec', 'storageClassName');
  return scalarOr(field, volume, 'metadata', 'annotations', ANNOTATION.betaStorageClass);
}
