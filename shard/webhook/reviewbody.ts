import { formatJson } from '../../framework/json/json.ts'

/** An AdmissionReview or a ConversionReview without its objects. */
export interface Review {
  readonly kind: string
  readonly apiVersion: string
  /** At least one member. */
  readonly request: object
}

/** The JSON of a review whose request also has the members `encoded`, which are JSON. They are large, so that they are not copied. */
export function reviewBody(
  { request, ...type }: Review,
  encoded: Readonly<Record<string, Buffer>>,
): readonly Buffer[] {
  const head = formatJson({ ...type, request }).slice(0, -'}}'.length)
  const members = Object.entries(encoded).flatMap(([name, json], i) => [
    Buffer.from(`${i === 0 ? head : ''},"${name}":`),
    json,
  ])
  return [...members, Buffer.from('}}')]
}
