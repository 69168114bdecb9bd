import { isObject, listAt, memberOf, textAt, valueAt } from '../../framework/json/values.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import {
  forbidden,
  invalidValue,
  repetitions,
  required,
  unsupported,
} from '../../framework/meta/fielderror.ts'
import { dns1035LabelErrors } from '../../framework/meta/names.ts'

/** Validates `spec.conversion` of a CRD (rules.md 7.41, 7.42). */
export function conversionErrors(conversion: unknown, path: string): readonly FieldError[] {
  if (conversion === undefined) return []
  const strategy = textAt(conversion, 'strategy')
  const webhook = memberOf(conversion, 'webhook')
  const at = `${path}.webhook`
  switch (strategy) {
    case '':
      return [required(`${path}.strategy`)]
    case 'Webhook':
      return [
        ...clientErrors(memberOf(webhook, 'clientConfig'), `${at}.clientConfig`),
        ...reviewVersionErrors(
          listAt(webhook, 'conversionReviewVersions').map(String),
          `${at}.conversionReviewVersions`,
        ),
      ]
    case 'None':
      return webhook === undefined
        ? []
        : [forbidden(at, 'should not be set when strategy is not set to Webhook')]
    default:
      return [unsupported(`${path}.strategy`, strategy, ['None', 'Webhook'])]
  }
}

function clientErrors(config: unknown, path: string): readonly FieldError[] {
  if (!isObject(config)) return [required(path, 'required when strategy is set to Webhook')]
  const { url, service } = config
  if ((url === undefined) === (service === undefined))
    return [required(path, 'exactly one of url or service is required')]
  return url === undefined ? serviceErrors(service, `${path}.service`) : urlErrors(String(url), `${path}.url`)
}

const desired = 'desired format: https://host[:port]/path'

/** Validates the URL of a webhook. */
export function urlErrors(text: string, path: string): readonly FieldError[] {
  if (!URL.canParse(text))
    return [required(path, `url must be a valid URL: ${JSON.stringify(text)}; ${desired}`)]
  const url = new URL(text)
  const wrong: readonly (readonly [isWrong: boolean, value: string, why: string])[] = [
    [
      url.protocol !== 'https:',
      url.protocol.slice(0, -1),
      `'https' is the only allowed URL scheme; ${desired}`,
    ],
    [url.host === '', url.host, `host must be specified; ${desired}`],
    [
      url.username !== '' || url.password !== '',
      url.username,
      'user information is not permitted in the URL',
    ],
    [url.hash !== '', url.hash.slice(1), 'fragments are not permitted in the URL'],
    [url.search !== '', url.search.slice(1), 'query parameters are not permitted in the URL'],
  ]
  return wrong.filter(([isWrong]) => isWrong).map(([, value, why]) => invalidValue(path, value, why))
}

/** Validates the Service of a webhook. */
export function serviceErrors(service: unknown, path: string): readonly FieldError[] {
  const port = Number(valueAt(service, 'port') ?? 443)
  const url = valueAt(service, 'path')
  return [
    ...(textAt(service, 'name') === '' ? [required(`${path}.name`, 'service name is required')] : []),
    ...(textAt(service, 'namespace') === ''
      ? [required(`${path}.namespace`, 'service namespace is required')]
      : []),
    ...(port >= 1 && port <= 65_535
      ? []
      : [invalidValue(`${path}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive')]),
    ...(url === undefined || String(url).startsWith('/')
      ? []
      : [invalidValue(`${path}.path`, url, "must start with a '/'")]),
  ]
}

/** A reference to the Service of a webhook. */
export interface WebhookService {
  readonly name?: string
  readonly namespace?: string
  readonly port?: number
  readonly path?: string
}

/** The URL of a webhook: its own, or that of its Service by DNS name. */
export function webhookUrl(config: { readonly url?: string; readonly service?: WebhookService }): string {
  if (config.url !== undefined) return config.url
  const { name = '', namespace = '', port = 443, path = '/' } = config.service ?? {}
  return `https://${name}.${namespace}.svc:${port}${path}`
}

const acceptedReviewVersions = ['v1', 'v1beta1']

/** Validates the review versions of a webhook; `unsaid` is the error detail when there are none. */
export function reviewVersionErrors(
  versions: readonly string[],
  path: string,
  unsaid = '',
): readonly FieldError[] {
  if (versions.length === 0) return [required(path, unsaid)]
  const isRepeated = repetitions()
  const each = versions.flatMap((version, i) =>
    isRepeated(version)
      ? [invalidValue(`${path}[${i}]`, version, 'duplicate version')]
      : dns1035LabelErrors(version).map(text => invalidValue(`${path}[${i}]`, version, text)),
  )
  const text = `must include at least one of ${acceptedReviewVersions.join(', ')}`
  return versions.some(version => acceptedReviewVersions.includes(version))
    ? each
    : [...each, invalidValue(path, versions, text)]
}
