"""Files and pictures.

Each chapter imports from those below it:

    tiles           several scenes as one, and their labels
    maps            writers of class maps and rasters: ENVI, GeoTIFF, PNG, NumPy
    scenes          cubes of spectra, opened from files, with the bands and pixels to work with
    labels          images of class ids, shapes, the table of classes
    readers         one file per format or family; `readers.images` finds the one a file needs
    georeference    coordinates, their systems, how two pictures lie, tables of sensors' grids
    records         hashes and stamps of the files that a run reads
    rasters         what is read a block of rows at a time
    file_names      of several scenes and their outputs
    number_tables   rows of numbers in text files
"""
