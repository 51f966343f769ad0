// The records of an upload are deleted with its row. A record that is written for an upload which was closed meanwhile has no row to refer
// to, so the database refuses it: nothing of a closed upload can be acknowledged.

import type { Database } from "../../db/client.ts";
import type { BucketPartModel, BucketPieceModel, BucketUploadModel } from "../../db/generated/models.ts";
import { onForeignKeyViolation } from "../../db/sql-state.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { UploadClosedError } from "../blobs/blob-errors.ts";
import type { PartPlan } from "../blobs/blob-store.ts";
import type { OpenUpload, StoredPiece, UploadRecords } from "../blobs/buckets/upload-records.ts";

/**
 * Keeps the records of uploads that are open in the bucket in the database that all processes share. `place` names the bucket. It is
 * recorded while the objects move from one bucket to another: then the uploads of the other one are not seen. At other times rows have none,
 * so that the bucket may get another address.
 */
export function keepUploadRecords(db: Pick<Database, "prisma">, place: string): UploadRecords {
  const { bucketUpload, bucketPart, bucketPiece } = db.prisma;
  const here = { OR: [{ place }, { place: null }] };
  return {
    async find(key) {
      const row = await bucketUpload.findUnique({ where: { key, ...here } });
      return row ? toUpload(row) : undefined;
    },
    async open({ key, uploadId, plan }) {
      const { sizeBytes, partSizeBytes } = bigPlan(plan);
      await db.prisma.$executeRaw`
        INSERT INTO "BucketUpload" (key, "uploadId", "sizeBytes", "partSizeBytes", place)
        VALUES (${key}, ${uploadId}, ${sizeBytes}, ${partSizeBytes}, (SELECT ${place}::text FROM "StoreMove"))
        ON CONFLICT DO NOTHING`;
      const row = await bucketUpload.findUnique({ where: { key, ...here } });
      if (!row) throw new UploadClosedError(key);
      return toUpload(row);
    },
    async close(key, uploadId) {
      await bucketUpload.deleteMany({ where: { key, ...here, ...(uploadId !== undefined && { uploadId }) } });
    },
    async listTaken({ uploadId }, numbers) {
      const where = { uploadId, ...(numbers && { number: { in: [...numbers] } }) };
      return (await bucketPart.findMany({ where })).map(toPart);
    },
    async findTaken({ uploadId }, number) {
      const row = await bucketPart.findUnique({ where: { uploadId_number: { uploadId, number } } });
      return row ? toPart(row) : undefined;
    },
    take: (upload, part) => takePart(db, upload, part),
    async listPieces({ uploadId }, partNumber) {
      return findPieces(db.prisma, uploadId, partNumber);
    },
    hold: (upload, piece, decide) => withTransaction(db, (tx) => holdPiece(tx, upload, { piece, decide })),
    async forgetPieces({ uploadId }, partNumber) {
      await bucketPiece.deleteMany({ where: { uploadId, partNumber } });
    },
  };
}

async function takePart({ prisma }: Pick<Database, "prisma">, upload: OpenUpload, part: PartPlan): Promise<PartPlan> {
  const { uploadId, key } = upload;
  const { number, digest, lengthBytes } = part;
  const throwClosed = () => {
    throw new UploadClosedError(key);
  };
  const data = { uploadId, number, digest, lengthBytes: BigInt(lengthBytes) };
  await prisma.bucketPart.createMany({ data, skipDuplicates: true }).catch(onForeignKeyViolation(throwClosed));
  const row = await prisma.bucketPart.findUnique({ where: { uploadId_number: { uploadId, number } } });
  return row ? toPart(row) : throwClosed();
}

interface Holding {
  readonly piece: StoredPiece;
  readonly decide: (held: readonly StoredPiece[]) => boolean;
}

/** The upload's row is locked: of two pieces for one place, the second writer sees the first one's. */
async function holdPiece(tx: Transaction, { uploadId, key }: OpenUpload, { piece, decide }: Holding): Promise<boolean> {
  const locked = await tx.$queryRaw<unknown[]>`SELECT 1 FROM "BucketUpload" WHERE "uploadId" = ${uploadId} FOR UPDATE`;
  if (locked.length === 0) throw new UploadClosedError(key);
  if (!decide(await findPieces(tx, uploadId))) return false;
  const { offset, lengthBytes, ...others } = piece;
  const data = { ...others, uploadId, offset: BigInt(offset), lengthBytes: BigInt(lengthBytes) };
  await tx.bucketPiece.create({ data });
  return true;
}

async function findPieces(
  prisma: Pick<Transaction, "bucketPiece">,
  uploadId: string,
  partNumber?: number,
): Promise<StoredPiece[]> {
  const rows = await prisma.bucketPiece.findMany({
    where: { uploadId, ...(partNumber !== undefined && { partNumber }) },
    orderBy: [{ partNumber: "asc" }, { offset: "asc" }],
  });
  return rows.map(toPiece);
}

function toUpload({ key, uploadId, sizeBytes, partSizeBytes }: BucketUploadModel): OpenUpload {
  return { key, uploadId, plan: { sizeBytes: Number(sizeBytes), partSizeBytes: Number(partSizeBytes) } };
}

function bigPlan({ sizeBytes, partSizeBytes }: OpenUpload["plan"]) {
  return { sizeBytes: BigInt(sizeBytes), partSizeBytes: BigInt(partSizeBytes) };
}

function toPart({ number, digest, lengthBytes }: BucketPartModel): PartPlan {
  return { number, digest, lengthBytes: Number(lengthBytes) };
}

function toPiece({ partNumber, offset, lengthBytes, digest, name }: BucketPieceModel): StoredPiece {
  return { partNumber, offset: Number(offset), lengthBytes: Number(lengthBytes), digest, name };
}
