/** The most characters of all warnings of a response, and of one warning if there are more (rules.md 1.53). */
const budget = 4096
const shortened = 256

/** The values of the `Warning` headers. Source: `k8s.io/apiserver/pkg/endpoints/filters/warning.go`. */
export const warningHeaders = (texts: readonly string[]): readonly string[] =>
  withinBudget(texts).map(headerValue)

function withinBudget(texts: readonly string[]): readonly string[] {
  const length = texts.reduce((sum, text) => sum + [...text].length, 0)
  if (length <= budget) return texts
  const short = texts.map(text => [...text].slice(0, shortened).join(''))
  let used = 0
  return short.filter(text => {
    used += [...text].length
    return used <= budget
  })
}

/** `299 - "…"` as UTF-8 bytes, which Node writes from a string of single bytes. */
function headerValue(text: string): string {
  const quoted = text.replace(/\p{Cc}/gu, '').replace(/["\\]/g, '\\$&')
  return Buffer.from(`299 - "${quoted}"`, 'utf8').toString('latin1')
}
