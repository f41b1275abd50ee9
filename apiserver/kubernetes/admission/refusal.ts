import type { StatusError } from '../../../shared/errors/status-error';
import { forbidden } from '../../../shared/errors/status-error';
import type { AdmissionAttributes } from '../../engine/registry/admission';

/** The 403 of a plugin. An object whose name the server is to make is called by what its name will begin with. */
export function refusal(attributes: AdmissionAttributes, why: string): StatusError {
  return forbidden(attributes.write.endpoint.row, nameOf(attributes), why);
}

function nameOf({ write: { subresource, name }, operation, object }: AdmissionAttributes): string {
  if (operation !== 'CREATE' || subresource !== '' || object === undefined) return name;
  const { name: given = '', generateName = '' } = object.metadata;
  return [given, generateName, name].find((each) => each !== '') ?? 'Unknown';
}
