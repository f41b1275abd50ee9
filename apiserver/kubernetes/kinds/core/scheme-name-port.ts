import { badRequest } from '../../../../shared/errors/status-error';

/** A name in a path to a proxy: `name`, `name:port`, `scheme:name:port`. */
export interface SchemeNamePort {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number or a name, as it was given; empty where none was. */
  readonly port: string;
}

const PARTS_MAX = 3;

/** Throws BadRequest for text of another form. `kind` is what it says. */
export function schemeNamePortOf(text: string, kind: string): SchemeNamePort {
  const parts = text.split(':');
  const [scheme = '', name = '', port = ''] = parts.length === PARTS_MAX ? parts : ['', ...parts];
  if (parts.length > PARTS_MAX || name === '' || !['', 'http', 'https'].includes(scheme)) {
    throw badRequest(`invalid ${kind} request ${JSON.stringify(text)}`);
  }
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port };
}

const PORT_OF_SCHEME = { http: 80, https: 443 } as const;
const PORT_MAX = 65_535;

/** The port that is connected to. Throws BadRequest for what is no port. */
export function portNumber({ scheme, port }: Pick<SchemeNamePort, 'scheme' | 'port'>): number {
  if (port === '') return PORT_OF_SCHEME[scheme];
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > PORT_MAX) throw badRequest(`invalid port ${JSON.stringify(port)}`);
  return number;
}
