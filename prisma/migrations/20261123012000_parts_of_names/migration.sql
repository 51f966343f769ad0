-- Parts of paths and of names.
CREATE INDEX "Recording_path_part" ON "Recording" USING GIN ("path" gin_trgm_ops);
CREATE INDEX "Device_name_part" ON "Device" USING GIN ("name" gin_trgm_ops);
