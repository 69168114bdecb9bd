/** As Kubernetes' MicroTime. Milliseconds since the epoch, with fractions. */
export function microTime(milliseconds: number): string {
  const whole = Math.floor(milliseconds)
  const micros = Math.floor((milliseconds - whole) * 1000)
  return new Date(whole).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)
}
