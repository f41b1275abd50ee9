import type { FieldError } from '../../../shared/errors/field-error';
import { required } from '../../../shared/errors/field-error';
import { dns1123LabelProblems, qualifiedNameProblems } from '../../../shared/meta/dns-names';
import type { Json } from '../../../shared/object/accessors';
import { optionalText, text } from '../../../shared/object/accessors';
import { invalidForEach, optionalForm, portNumber, requiredChoice } from '../rules/primitives';

/** A port of a Service or of its endpoints. `target` is what is wrong with where it leads to. */
export function validateServicePort(
  port: Json,
  path: string,
  { needsName, target = [] }: { readonly needsName: boolean; readonly target?: readonly FieldError[] },
): FieldError[] {
  return [
    ...(needsName && text(port['name']) === '' ? [required(`${path}.name`)] : []),
    ...optionalForm(port['name'], `${path}.name`, dns1123LabelProblems),
    ...portNumber(port['port'], `${path}.port`),
    ...requiredChoice(port['protocol'], `${path}.protocol`, PROTOCOLS),
    ...target,
    ...appProtocol(port['appProtocol'], `${path}.appProtocol`),
  ];
}

/** The protocols of a port. */
export const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];

/** The name of a protocol above the transport, where there is one. */
export function appProtocol(value: unknown, path: string): FieldError[] {
  const name = optionalText(value);
  return name === undefined ? [] : invalidForEach(qualifiedNameProblems(name), name, path);
}
