/** Returns the error that `work` rejects with. Fails if it resolves. */
export async function catchError(work: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([work]);
  if (result.status === 'rejected') return result.reason;
  throw new Error(`expected an error, got ${result.value}`);
}
