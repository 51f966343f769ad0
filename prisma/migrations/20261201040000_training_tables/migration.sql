ALTER TABLE "TrainingSet" DROP CONSTRAINT "TrainingSet_format_is_known";
ALTER TABLE "TrainingSet" ADD CONSTRAINT "TrainingSet_format_is_known" CHECK ("format" IN ('lerobot-v3', 'parquet')) NOT VALID;
