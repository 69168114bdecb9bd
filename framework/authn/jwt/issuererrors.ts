import type { FieldError } from '../../meta/errors.ts'
import { repetitions } from '../../meta/fielderror.ts'
import { authoritiesProblem } from '../../net/authorities.ts'
import { certificatesOf } from '../issuer.ts'
import type { IssuerConfig } from './config.ts'
import { invalid, required } from './problems.ts'

/** Validates an issuer (`validateIssuer`). `forbidden`: the issuers of the server itself. */
export function issuerErrors(
  { url, discoveryURL, audiences = [], audienceMatchPolicy = '', certificateAuthority }: IssuerConfig,
  path: string,
  forbidden: readonly string[],
): readonly FieldError[] {
  const same = discoveryURL && trimmed(url) === trimmed(discoveryURL)
  return [
    ...(url ? urlErrors(url, `${path}.url`) : [required(`${path}.url`, '')]),
    ...(forbidden.includes(url)
      ? [
          invalid(
            `${path}.url`,
            url,
            `URL must not overlap with disallowed issuers: [${forbidden.join(' ')}]`,
          ),
        ]
      : []),
    ...(same
      ? [invalid(`${path}.discoveryURL`, discoveryURL, 'discoveryURL must be different from URL')]
      : []),
    ...(discoveryURL ? urlErrors(discoveryURL, `${path}.discoveryURL`) : []),
    ...audienceErrors(audiences, audienceMatchPolicy, path),
    ...authorityErrors(certificateAuthority, `${path}.certificateAuthority`),
  ]
}

const trimmed = (url: string): string => url.replace(/\/+$/, '')

function urlErrors(text: string, path: string): readonly FieldError[] {
  const wrong = (detail: string): FieldError => invalid(path, text, detail)
  if (!URL.canParse(text)) return [wrong(`parse ${JSON.stringify(text)}: invalid URI for request`)]
  const { protocol, username, password, search, hash } = new URL(text)
  return [
    ...(protocol === 'https:' ? [] : [wrong('URL scheme must be https')]),
    ...(username === '' && password === '' ? [] : [wrong('URL must not contain a username or password')]),
    ...(search === '' ? [] : [wrong('URL must not contain a query')]),
    ...(hash === '' ? [] : [wrong('URL must not contain a fragment')]),
  ]
}

function audienceErrors(audiences: readonly string[], policy: string, path: string): readonly FieldError[] {
  const at = `${path}.audiences`
  if (audiences.length === 0) return [required(at, `at least one ${at} is required`)]
  const isRepeated = repetitions()
  const entries = audiences.flatMap((audience, i): readonly FieldError[] => {
    if (audience === '') return [required(`${at}[${i}]`, '')]
    return isRepeated(audience)
      ? [{ type: 'FieldValueDuplicate', field: `${at}[${i}]`, value: audience, detail: '' }]
      : []
  })
  const matchAny = policy === 'MatchAny' || (audiences.length === 1 && policy === '')
  const detail =
    audiences.length > 1
      ? 'audienceMatchPolicy must be MatchAny for multiple audiences'
      : 'audienceMatchPolicy must be empty or MatchAny for single audience'
  return [...entries, ...(matchAny ? [] : [invalid(`${path}.audienceMatchPolicy`, policy, detail)])]
}

function authorityErrors(pem: string | undefined, path: string): readonly FieldError[] {
  if (!pem) return []
  const problem = authoritiesProblem(pem)
  if (problem !== undefined) return [invalid(path, '<omitted>', problem)]
  try {
    certificatesOf(pem)
    return []
  } catch (error) {
    return [invalid(path, '<omitted>', (error as Error).message)]
  }
}
